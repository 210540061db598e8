"""What went wrong, as one sentence."""


class OomForensicsError(Exception):
    """Every error of this package; the message is one sentence for the user."""
