"""Webhooks of stand-ins: what those of all kinds have in common. Which request gets which answer the rooms of the kinds say."""
