"""Tests of reading protobuf bodies."""
