"""Child processes: whatever works on what strangers gave us, or may have to be killed, works in one.

==============  ======================================================================================================
worker.py       what runs in the child; the standard library alone, under any Python from 3.9 on
child.py        one child seen from here: started by a question, killed at its deadline, started again by the next one
program.py      what a child does, and under which limits
process.py      one process of a child and its pipes: started as a program or as a fork, killed by its id
fork_server.py  a process with our modules loaded, of which children may be forks
deadline.py     a question, and the watch over the process that is at it
endings.py      why there is no answer
family.py       a process and what it started: how that is ended, and when leave is taken of it
held_pipes.py   our ends of pipes that what it started may hold too
pool.py         several children that live on, the least recently used one ended first
jobs.py         work that a request waits for or asks about: found again, watched, cancelled, kept for a while
==============  ======================================================================================================

What a child does is its *program*: a module or a file with a function `tasks`, see worker.py.
"""
