"""Stand-ins for the stock controllers: ordinary clients, so they run against a real API server as well."""
