/** Bugs that the checkers of the fault tests must catch. Each is one edit of production code; a code that is not found is an error. */

export interface PlantedBug {
  readonly name: string
  /** From the project's root. */
  readonly file: string
  /** Found there once. */
  readonly code: string
  readonly planted: string
  /** Seen only where the order is strict under retry. */
  readonly isOfStrictOrder?: boolean
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'reversed batches',
    file: 'engine/queue/queue.ts',
    code: 'this.processor.process(tasks)',
    planted: 'this.processor.process(tasks.toReversed())',
  },
  {
    name: 'a lane that overtakes',
    file: 'engine/queue/lane.ts',
    code: 'const first = this.waiting[this.head]',
    planted:
      'const place = this.waiting.length - 1; const first = this.waiting[place]; if (first) this.waiting[place] = this.waiting[this.head]',
  },
  {
    name: 'a strict lane that overtakes what failed',
    file: 'engine/queue/queue.ts',
    code: '&& !lane.hasFailed && lane.waitingCount === 0',
    planted: '',
    isOfStrictOrder: true,
  },
  {
    name: 'settle before commit',
    file: 'engine/queue/queue.ts',
    code: 'this.inFlight += tasks.length',
    planted: 'this.inFlight += tasks.length; this.link.settle(tasks.map((task) => task.delivery))',
  },
  {
    name: 'a resend counted twice',
    file: 'transports/mqtt/handlers/publish.ts',
    code: 'dispatch(session, uplink, receipt, bytes, payloadStart, end)\n  } catch',
    planted:
      'dispatch(session, uplink, receipt, bytes, payloadStart, end)\n' +
      '    if ((bytes[start] ?? 0) & 8) dispatch(session, uplink, session, bytes, payloadStart, end)\n  } catch',
  },
]

export function bugOf(name: string): PlantedBug {
  const bug = PLANTED_BUGS.find((one) => one.name === name)
  if (bug === undefined) throw new Error(`no planted bug is called "${name}"`)
  return bug
}
