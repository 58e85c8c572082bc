/** The worker's entry: owns the store, answers one question after the other, tidies after each answer to a change. */
import { parentPort, workerData } from 'node:worker_threads'
import { encodePoints } from './batch-codec.ts'
import { Core, type CoreOptions } from './core.ts'
import { errorOnWire, type Opened, type Question, type Reply, type Request } from './protocol.ts'

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
  port.on('message', (request: Request) => {
    const { id, now, question } = request
    let { sequence } = core
    let answer: Pick<Reply, 'points' | 'keys' | 'error'>
    try {
      answer = ask(core, question, now)
      sequence = core.sequence
    } catch (error) {
      answer = { error: errorOnWire(error) }
    }
    const reply: Reply = { id, sequence, figures: core.figures(), ...answer }
    port.postMessage(reply, answer.points === undefined ? [] : [answer.points.buffer as ArrayBuffer])
    // Uncaught on purpose: the worker dies, and the next open makes memory from the log again.
    if (core.broken !== undefined) throw core.broken
    if (question.kind === 'close') port.close()
    else if (question.kind === 'write' || question.kind === 'delete') core.tidy(now)
  })
  port.postMessage({ opened: true } satisfies Opened)
}

function ask(core: Core, question: Question, now: number): Pick<Reply, 'points' | 'keys'> {
  switch (question.kind) {
    case 'write':
      core.write(question.operation, now)
      return {}
    case 'history':
      return { points: encodePoints(core.history(question.entityId, question.query, now)) }
    case 'latest':
      return { points: encodePoints(core.latest(question.entityId, question.keys)) }
    case 'keys':
      return { keys: core.keys(question.entityId) }
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
      core.moveAll(now)
      return {}
    case 'close':
      core.close()
      return {}
  }
}
