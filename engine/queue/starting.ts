/** Tasks between their lanes and their outcomes: gathered, handed to the processor as packs, each pack with one deadline. */
import type { Clock } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import { QueueErrors } from './errors.ts'
import { Packs } from './packs.ts'
import type { QueueSettings } from './settings.ts'
import type { Pack, Task } from './task.ts'
import { judgesPacks, runsOnAfterTimeout } from './verdict.ts'
import type { WorkProcessor } from './work.ts'

export class Starting {
  /** In process. */
  inFlight = 0
  readonly packs: Packs
  private readonly processor: WorkProcessor
  private readonly queue: { readonly settings: QueueSettings }
  /** They may start: handed out as one pack at the end of the turn that gathered them; batch by batch under BATCH. */
  private tasks: Task[] = []

  constructor(clock: Clock, processor: WorkProcessor, queue: { readonly settings: QueueSettings }) {
    this.processor = processor
    this.queue = queue
    this.packs = new Packs(clock, (pack, nowMs) => this.timeOut(pack, nowMs))
  }

  add(task: Task): void {
    task.lane.inFlight++
    this.tasks.push(task)
  }

  /** `leaves` gets what waits behind a batch and is not begun, since its lane is to be parked by now. */
  handOut(leaves: (task: Task) => void): void {
    if (this.tasks.length === 0) return
    const { settings } = this.queue
    let { tasks } = this
    if (settings.submit === 'BATCH') {
      if (this.inFlight > 0) return
      this.takeLeaving(leaves)
      tasks = this.tasks.splice(0, settings.batchSize)
      if (tasks.length === 0) return
    } else this.tasks = []
    this.inFlight += tasks.length
    this.packs.open(tasks, settings.processingTimeoutMs, judgesPacks(settings))
    try {
      this.processor.process(tasks)
    } catch (error) {
      // It promised not to: whatever it left open has failed.
      const failure = QueueErrors.PROCESSOR_FAILED({ reason: errorText(error) }, error)
      for (const task of tasks) task.fail(failure)
    }
  }

  /** Takes out what was not handed out. */
  takeAll(): readonly Task[] {
    const { tasks } = this
    this.tasks = []
    return tasks
  }

  private takeLeaving(leaves: (task: Task) => void): void {
    const leaving = this.tasks.filter(({ lane }) => lane.parkFor !== undefined)
    if (leaving.length === 0) return
    this.tasks = this.tasks.filter(({ lane }) => lane.parkFor === undefined)
    for (const task of leaving) leaves(task)
  }

  private timeOut(pack: Pack, nowMs: number): void {
    const { processing, processingTimeoutMs } = this.queue.settings
    const error = QueueErrors.PROCESSING_TIMEOUT({ limit: processingTimeoutMs })
    const runsOn = runsOnAfterTimeout(processing)
    let deadlineMs = Infinity
    for (const task of pack.tasks) {
      const { sinceMs } = task
      if (sinceMs === undefined) continue
      if (sinceMs + pack.timeoutMs <= nowMs) task.timeOut(error, runsOn)
      else deadlineMs = Math.min(deadlineMs, sinceMs + pack.timeoutMs)
    }
    pack.deadlineMs = deadlineMs
  }
}
