"""Questions and the answers to them as files have them: joined, resolved,
closed, pending.
"""
