"""What an answer says: which part of it counts, and the picks, names
or number in it.
"""
