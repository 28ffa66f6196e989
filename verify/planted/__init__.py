"""Planted bugs: ways in which the product could be wrong, each one line, and which tests would say so.

The bugs are data (`bugs/`, one file a part of the product). Each is put into a copy of the tree, never into the tree itself, and
the suites that it names are run there; a bug that none of them sees is a test that is missing (`make planted`).
"""
