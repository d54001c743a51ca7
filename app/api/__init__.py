"""What both JSON APIs share: envelope, tokens and scopes, parameters, OpenAPI. Endpoints live in the api/ of their
modules.

tokens.py checks who calls and with which scope, rate_limit.py how often. parameters.py and bodies.py read a request,
envelope.py and paging.py write an answer, openapi.py documents both.
"""
