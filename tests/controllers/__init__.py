"""Tests of the controllers: plans as tables, effects against a small cluster in memory, kopf against a small server."""
