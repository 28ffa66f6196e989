"""Tests of the nouns: names, quantities, requests, what a Job means as a gang."""
