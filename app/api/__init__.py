"""What both JSON APIs share: envelope, tokens and scopes, parameters, OpenAPI. Endpoints live in the api/ of their modules."""
