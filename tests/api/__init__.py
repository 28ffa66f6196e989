"""Tests of names, quantities, requests, what a Job means as a gang."""
