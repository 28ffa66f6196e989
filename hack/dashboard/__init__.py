"""The Grafana dashboard, written as a table of panels; its JSON is made from it."""
