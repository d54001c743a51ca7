"""Pages of accounts and administration: sign-in, one's own account, users, roles, tenants, policies, tokens,
jobs and the audit."""
