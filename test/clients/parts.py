"""Parts of a client's day, a line each: ok NAME, or FAIL NAME: why. What fails does not hide the next."""
import sys
import traceback

failed = False


def part(name, run, *values):
    global failed
    try:
        result = run(*values)
        print(f'ok {name}', flush=True)
        return result
    except Exception as error:
        failed = True
        where = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in reversed(where) if frame.filename == sys.argv[0]), 0)
        print(f'FAIL {name}: line {line}: {type(error).__name__}: {str(error)[:600]}', flush=True)


def end():
    sys.exit(1 if failed else 0)
