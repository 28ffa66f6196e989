"""The judge: reads the API server's audit log, or its watches, and says which promise was broken where.

Imports nothing of the product but the words that everybody sees (`api.constants`).
"""
