"""The live page seen by a browser without a screen: for its tests, and to measure how fast it draws."""
