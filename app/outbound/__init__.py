"""Calls that leave this host: which addresses, how long, how much, and what may be kept of them. No database here.

client.py makes a call, policy.py says which addresses it may reach, redaction.py what may be kept of it.
"""

from app.outbound.calls import Call, CallRecord, Limits, Log, OutboundReply, ProbeStep
from app.outbound.client import OutboundClient
from app.outbound.errors import OutboundError
from app.outbound.policy import AddressPolicy, AllowListError, parse_allow_list
from app.outbound.redaction import Redactor
from app.outbound.retry_after import retry_after_s
from app.outbound.spellings import shortened

__all__ = [
    "AddressPolicy",
    "AllowListError",
    "Call",
    "CallRecord",
    "Limits",
    "Log",
    "OutboundClient",
    "OutboundError",
    "OutboundReply",
    "ProbeStep",
    "Redactor",
    "parse_allow_list",
    "retry_after_s",
    "shortened",
]
