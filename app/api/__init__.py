"""What both JSON APIs share: envelope, tokens and scopes, parameters, OpenAPI. Endpoints live in their modules' api.py."""
