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
    file: 'engine/queue/starting.ts',
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
    code: 'else this.starting.add(task)',
    planted: 'else { this.starting.add(task); this.link.settle([task.delivery]) }',
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

/** What the campaign's judge must find in packs: messages of a device with several values. */
export const PACK_BUGS: readonly PlantedBug[] = [
  {
    name: 'a value of a pack is acknowledged and lost',
    file: 'engine/device/uploads.ts',
    code: '      this.publish(record, group, at, group.ts ??',
    planted: '      if (group.ts % 97_000 === 0) all.stored()\n      else this.publish(record, group, at, group.ts ??',
  },
  {
    name: 'a pack is counted twice',
    file: 'engine/device/uploads.ts',
    code: '    const all = new UploadReceipt(groups.length, receipt)',
    planted:
      '    const all = new UploadReceipt(groups.length, receipt)\n' +
      '    const nobody = { stored() {}, refused() {} }\n' +
      '    if (only.ts % 7_000 === 0) for (const group of groups) this.publish(record, group, at, group.ts, nobody)',
  },
  {
    name: 'a pack runs from its end',
    file: 'engine/device/uploads.ts',
    code: '    for (const group of groups) {',
    planted: '    for (const group of groups.toReversed()) {',
  },
]

/** What the judge of runs must find where lanes are parked. */
export const PARKING_BUG: PlantedBug = {
  name: 'a parked lane is tried from its end',
  file: 'engine/parking/stored-lane.ts',
  code: '    for (const entry of this.entries) {',
  planted: '    for (const entry of this.entries.toReversed()) {',
}

/** Not of production: the log of runs as it was, which called what comes out of the store of parked lanes a second delivery. */
export const FORMER_LOG: PlantedBug = {
  name: 'a try out of the store of parked lanes is a second delivery',
  file: 'test/support/run-log/tries.ts',
  code: '  const isParked = before !== undefined && !before.hasSucceeded && isOutOfTheStore(work)',
  planted: '  const isParked = before !== before && isOutOfTheStore(work)',
}

/** What the test of partitions that move must find. */
export const OWNER_BUG: PlantedBug = {
  name: 'state of the old owner',
  file: 'services/node-states.ts',
  code: '      nodeState.fence(name, epoch, stale),',
  planted: '',
}

/** Which simulation finds it. */
export type Simulation = 'devices' | 'group-commit' | 'services'

export interface SimulationBug extends PlantedBug {
  readonly simulation: Simulation
  /** Few histories show it: searched for only where `SEEDS` is set. */
  readonly isRare?: boolean
}

/** Bugs that the simulations must find. */
export const SIMULATION_BUGS: readonly SimulationBug[] = [
  {
    name: 'a failed group takes with it who waits',
    simulation: 'group-commit',
    file: 'storage/group-commit.ts',
    code: 'for (const entry of group) entry.reject(error)',
    planted: 'for (const entry of [...group, ...this.waiting]) entry.reject(error)',
  },
  {
    name: 'a group is acknowledged when its write begins',
    simulation: 'group-commit',
    file: 'storage/group-commit.ts',
    code: 'this.groups++',
    planted: 'this.groups++; for (const entry of group) entry.resolve(this.groups as Result)',
  },
  {
    name: 'an item between two groups is lost',
    simulation: 'group-commit',
    file: 'storage/group-commit.ts',
    code: 'this.waiting.slice(count)',
    planted: 'this.waiting.slice(count + 1)',
  },
  {
    name: 'a change is committed before its message',
    simulation: 'services',
    file: 'services/changes/changes.ts',
    code: 'const written = await this.entities.write([...statements',
    planted: 'await this.entities.write(statements); const written = await this.entities.write([...statements',
  },
  {
    name: 'a message that the link refused is forgotten',
    simulation: 'services',
    file: 'services/changes/outbox.ts',
    code: 'this.held.splice(place < 0 ? this.held.length : place, 0, entry)',
    planted: 'void place',
  },
  {
    name: 'nobody looks again at a commit in doubt',
    simulation: 'services',
    isRare: true,
    file: 'services/changes/commit-doubts.ts',
    code: 'if (isInDoubt(error)) this.doubt(lookAgain)',
    planted: 'void isInDoubt(error)',
  },
  {
    name: 'a gap in the feed clears no cache',
    simulation: 'services',
    isRare: true,
    file: 'services/attributes/followed-attributes.ts',
    code: 'feed.onGap(() => cache.invalidateAll())',
    planted: 'feed.onGap(() => undefined)',
  },
  {
    name: 'a new owner knows everything at once',
    simulation: 'devices',
    isRare: true,
    file: 'engine/device/owner/device-owner.ts',
    code: 'return since !== undefined && now >= since + this.graceMs',
    planted: 'return since !== undefined',
  },
  {
    name: 'the session that is told last is the newest',
    simulation: 'devices',
    file: 'engine/device/owner/session-directory.ts',
    code: 'inOrder && ageMs < JUST_OPENED_MS',
    planted: 'true',
  },
  {
    name: 'a session is told once to end',
    simulation: 'devices',
    isRare: true,
    file: 'engine/device/owner/session-directory.ts',
    code: "      this.line.endSession(member, device.deviceId, session.id, 'TAKEN_OVER')\n      return",
    planted: '      return',
  },
  {
    name: 'whoever is heard becomes active',
    simulation: 'devices',
    file: 'engine/device/owner/device-actor.ts',
    code: 'if (state.active || isSilent(state, this.host.now())) return',
    planted: 'if (isSilent(state, this.host.now())) return',
  },
  {
    name: 'who was active at a crash is forgotten',
    simulation: 'devices',
    isRare: true,
    file: 'engine/device/owner/device-owner.ts',
    code: '() => this.active.find()',
    planted: '() => undefined',
  },
  {
    name: 'two uploads of a millisecond share a stamp',
    simulation: 'devices',
    file: 'engine/device/owner/stamper.ts',
    code: 'this.time : last + 1',
    planted: 'this.time : last',
  },
  {
    name: 'stamps are the time of the transport',
    simulation: 'devices',
    file: 'engine/device/owner/stamping.ts',
    code: 'const stamp = stamps[index] ?? storedAt',
    planted: 'const stamp = message.ts',
  },
  {
    name: 'a new owner stamps from the clock alone',
    simulation: 'devices',
    isRare: true,
    file: 'engine/device/owner/stamping.ts',
    code: 'new Stamper(parseNote(note))',
    planted: 'new Stamper({ ...parseNote(note), floors: [] })',
  },
]

/** Of a simulation: the rare ones too where many histories are asked for. */
export function simulationBugs(simulation: Simulation): readonly SimulationBug[] {
  const isLong = process.env['SEEDS'] !== undefined
  return SIMULATION_BUGS.filter((bug) => bug.simulation === simulation && (isLong || bug.isRare !== true))
}

export function bugOf(name: string): PlantedBug {
  const all = [...PLANTED_BUGS, ...PACK_BUGS, PARKING_BUG, FORMER_LOG, OWNER_BUG, ...SIMULATION_BUGS]
  const bug = all.find((one) => one.name === name)
  if (bug === undefined) throw new Error(`no planted bug is called "${name}"`)
  return bug
}
