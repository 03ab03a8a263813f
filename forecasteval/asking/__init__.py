"""Ask a model the questions of datasets: prompts out, a prediction file of
its replies in.
"""
