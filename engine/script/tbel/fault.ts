/** What stops a script from inside; `run` adds the place and makes it a ScriptError. */

export type FaultKind = 'runtime' | 'work' | 'time' | 'memory'

export class Fault extends Error {
  readonly kind: FaultKind

  constructor(reason: string, kind: FaultKind = 'runtime') {
    super(reason)
    this.kind = kind
  }
}
