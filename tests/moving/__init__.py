"""Tenants that move from one installation to another."""
