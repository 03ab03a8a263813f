"""What all tests share."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)  # no test may depend on how loaded the machine is
settings.load_profile("patient")
