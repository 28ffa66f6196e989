"""Property tests without a deadline per example: a busy machine is no error."""

from hypothesis import settings

settings.register_profile("tutti", deadline=None)
settings.load_profile("tutti")
