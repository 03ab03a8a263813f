"""Files that somebody else wrote, as records: any text, packing and program.

Nothing here knows what a question is, but by its id and its prompt.
"""
