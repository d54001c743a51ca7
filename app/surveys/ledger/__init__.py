"""The append-only record of every answer, its personal evidence, and the proof that nothing was changed.

append.py writes a response, changes.py a later change of it; entries.py says what their rows hold, chain.py makes the
hashes. answers.py checks values, translated_answers.py turns an answer in another language into the author's words.
evidence.py seals and destroys, verifying.py checks the whole chain.
"""
