"""Who may: tenants, users, roles, permissions, second factors, sessions and tokens, policies, and the audit."""
