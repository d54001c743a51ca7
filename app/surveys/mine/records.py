"""An agreement or refusal as a consent record, in the terms of the W3C community's guide to ISO/IEC TS 27560 (Data
Privacy Vocabulary). It contains only what Muster knows.

The specification also wants purposes, controllers and recipients. Muster knows of these only what the author wrote in
the message, so it claims no conformity.
"""

from typing import Any

from app.surveys.mine.reading import MyAnswer
from app.texts import instant

CONTEXT = {"dct": "http://purl.org/dc/terms/", "dpv": "https://w3id.org/dpv#"}
# By what was said first, and by the present standing.
STATUS = {
    "agreed": "dpv:ConsentGiven",
    "declined": "dpv:ConsentRefused",
    "withdrawn": "dpv:ConsentWithdrawn",
    "agreed_again": "dpv:ConsentGiven",
}


def consent_record(one: MyAnswer) -> dict[str, Any] | None:
    """The record as JSON-LD; None for an answer that is not a decision. The last status is the one that holds."""
    if one.outcome not in STATUS:
        return None
    said = [(one.outcome, one.recorded_at, one.source, one.receipt)]
    said += [(change.kind, change.recorded_at, change.source, change.receipt) for change in one.changes]
    return {
        "@context": CONTEXT,
        "@type": "dpv:ConsentRecord",
        "dct:identifier": one.receipt,
        "dct:created": instant(one.recorded_at),
        "dct:modified": instant(said[-1][1]),
        "dpv:hasDataSubject": {"@type": "dpv:DataSubject", "dct:identifier": str(one.person)},
        "dpv:hasNotice": {
            "@type": "dpv:ConsentNotice",
            "dct:identifier": one.content_hash,
            "dct:title": one.words.title,
            "dct:hasVersion": str(one.version),
            **({"dct:language": one.language} if one.language else {}),
        },
        "dpv:hasConsentStatus": [
            {
                "@type": STATUS[kind],
                "dct:identifier": receipt,
                "dpv:isIndicatedAtTime": instant(at),
                "dpv:isIndicatedBy": "dpv:DataSubject",
                "dpv:hasIndicationMethod": source,
            }
            for kind, at, source, receipt in said
        ],
    }
