"""The host: accounts, tenants, people, attendance, kiosk, policies, audit. It knows neither clock nor surveys."""
