/** How loaded the machine is that this process runs on, as the reference's `systemInfo` tells it: shares in per cent. */
import { statfs } from 'node:fs/promises'
import { cpus, freemem, totalmem } from 'node:os'
import type { JsonObject } from '../../model/json.ts'

export interface ProcessFacts {
  /** How this process is named where there are several. */
  readonly member: string
  readonly roles: readonly string[]
  /** On the disk that is told of. */
  readonly folder: string
}

/** The reference's names for what a process does; one that does it all is its monolith. */
const SERVICE_TYPES: readonly (readonly [role: string, serviceType: string])[] = [
  ['api', 'TB_CORE'],
  ['engine', 'TB_RULE_ENGINE'],
  ['transport', 'TB_TRANSPORT'],
]

export class SystemInfo {
  private readonly facts: ProcessFacts
  private before = cpuTimes()

  constructor(facts: ProcessFacts) {
    this.facts = facts
  }

  /** The processors' share is that since the last call. */
  async read(): Promise<JsonObject> {
    const { member, roles, folder } = this.facts
    const has = SERVICE_TYPES.filter(([role]) => roles.includes(role))
    const monolith = has.length === SERVICE_TYPES.length
    const { bsize, blocks, bavail } = await statfs(folder)
    const now = cpuTimes()
    const total = now.total - this.before.total
    const cpuUsage = total === 0 ? 0 : Math.round((100 * (now.busy - this.before.busy)) / total)
    this.before = now
    const data = {
      serviceId: member,
      serviceType: monolith ? 'MONOLITH' : has.map(([, serviceType]) => serviceType).join(','),
      cpuUsage,
      cpuCount: cpus().length,
      memoryUsage: Math.round((100 * (totalmem() - freemem())) / totalmem()),
      totalMemory: totalmem(),
      discUsage: blocks === 0 ? 0 : Math.round((100 * (blocks - bavail)) / blocks),
      totalDiscSpace: bsize * blocks,
    }
    return { monolith, systemData: [data] }
  }
}

function cpuTimes(): { readonly busy: number; readonly total: number } {
  let busy = 0
  let total = 0
  for (const { times } of cpus()) {
    const all = times.user + times.nice + times.sys + times.idle + times.irq
    total += all
    busy += all - times.idle
  }
  return { busy, total }
}
