/** The worker's entry: owns the store, answers one question after the other, tidies after each answer to a change. */
import { parentPort, workerData } from 'node:worker_threads'
import { encodePoints } from './batch-codec.ts'
import { Core, type CoreOptions } from './core.ts'
import { errorOnWire, type Opened, type Question, type Reply, type Request } from './protocol.ts'

type Answer = Pick<Reply, 'column' | 'points' | 'keys' | 'isPacked' | 'maxSequence' | 'error'>

export interface WorkerStart {
  readonly options: CoreOptions
  readonly now: number
}

if (parentPort !== null) serve(parentPort, workerData as WorkerStart)

function serve(port: NonNullable<typeof parentPort>, start: WorkerStart): void {
  let core: Core
  try {
    core = new Core(start.options, start.now)
  } catch (error) {
    port.postMessage({ opened: errorOnWire(error) } satisfies Opened)
    port.close()
    return
  }
  const tell = (id: number, sequence: number, answer: Answer): void => {
    const reply: Reply = { id, sequence, figures: core.figures(), ...answer }
    port.postMessage(reply, answer.points === undefined ? [] : [answer.points.buffer as ArrayBuffer])
  }
  port.on('message', (request: Request) => {
    const { id, now, question } = request
    // The only one that takes its time: others are answered meanwhile.
    if (question.kind === 'copy') {
      core.copyTo(question.directory).then(
        (maxSequence) => tell(id, core.sequence, { maxSequence }),
        (error: unknown) => tell(id, core.sequence, { error: errorOnWire(error) }),
      )
      return
    }
    let { sequence } = core
    let answer: Answer
    try {
      answer = ask(core, question, now)
      sequence = core.sequence
    } catch (error) {
      answer = { error: errorOnWire(error) }
    }
    tell(id, sequence, answer)
    // Uncaught on purpose: the worker dies, and the next open makes memory from the log again.
    if (core.broken !== undefined) throw core.broken
    if (question.kind === 'close') port.close()
    else if (question.kind === 'write' || question.kind === 'delete') core.tidy(now)
  })
  port.postMessage({ opened: true } satisfies Opened)
}

function ask(core: Core, question: Exclude<Question, { kind: 'copy' }>, now: number): Answer {
  switch (question.kind) {
    case 'write':
      core.write(question.operation, now)
      return {}
    case 'history':
      return { points: encodePoints(core.reads.history(question.entityId, question.query, now)) }
    case 'latest':
      return { points: encodePoints(core.reads.latest(question.entityId, question.keys)) }
    case 'latestOfMany':
      return { points: encodePoints(core.reads.latestOfMany(question.entityIds, question.keys)) }
    case 'latestColumn':
      return { column: core.reads.latestColumn(question.entityIds, question.from, question.key) }
    case 'keys':
      return { keys: core.reads.keys(question.entityId) }
    case 'storedKeys':
      return { keys: core.reads.storedKeys(question.entityId) }
    case 'delete': {
      const removed = core.delete(question.range, now)
      const replacements = new Map(
        removed.map(({ key, replacement }) => [key, replacement === undefined ? [] : [replacement]]),
      )
      return { points: encodePoints(replacements) }
    }
    case 'deleteEntity':
      core.deleteEntity(question.entityId, now)
      return {}
    case 'pack':
      return { isPacked: core.moveAll(now) }
    case 'close':
      core.close()
      return {}
  }
}
