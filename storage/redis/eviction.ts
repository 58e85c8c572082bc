/** What a Redis does when its memory is full, and what to set where that is not fit for a cache. */

export interface MemoryRule {
  readonly policy: string
  /** 0: as much as the machine has. */
  readonly maxBytes: number
}

/** From `INFO memory`, which is answered where `CONFIG` is forbidden too. */
export function memoryRuleOf(info: string): MemoryRule | undefined {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  const maxBytes = /^maxmemory:(\d+)/m.exec(info)?.[1]
  return policy === undefined || maxBytes === undefined ? undefined : { policy, maxBytes: Number(maxBytes) }
}

/** Undefined where nothing is to be set. */
export function evictionAdvice({ policy, maxBytes }: MemoryRule): string | undefined {
  if (!policy.startsWith('allkeys-')) {
    return `set maxmemory-policy to allkeys-random (allkeys-lru and allkeys-lfu do too): with ${policy} a full server takes no more attributes`
  }
  return maxBytes > 0 ? undefined : `set maxmemory: without it ${policy} drops nothing, and the cache takes all memory`
}
