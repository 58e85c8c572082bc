/**
 * Which process should own a device's partition: a view from membership, the same hashing as the link's. Views differ for a moment, so
 * nothing rests on it that must be single: what an owner writes of a device is harmless when two do.
 */
import { partitionOf, streamOf } from '../link/partition.ts'
import { ownerOf } from '../link/rendezvous.ts'
import type { Membership } from '../cluster/membership.ts'

export interface PartitionOwners {
  readonly partitions: number
  partitionOf(deviceId: string): number
  /** The id of the member; undefined where nobody has the role, or this process does not know. */
  ownerOf(partition: number): string | undefined
  /** Whether this process should own it. */
  owns(partition: number): boolean
  /** Calls back when any of it may be another; returns the way to stop. */
  onChange(listener: () => void): () => void
}

export interface PartitionOwnersOptions {
  readonly membership: Membership
  readonly partitions: number
  /** How many units of ownership the partitions are in; each partition is one where absent. */
  readonly streams?: number
  /** False while this process is cut off: then it owns nothing. Absent where it cannot be. */
  readonly connection?: {
    readonly connected: boolean
    onConnection(listener: (connected: boolean) => void): () => void
  }
}

export function partitionOwners(options: PartitionOwnersOptions): PartitionOwners {
  const { membership, partitions, connection } = options
  const streams = options.streams ?? partitions
  const owner = (partition: number): string | undefined =>
    ownerOf(
      streamOf(partition, streams),
      streams,
      membership
        .members()
        .filter(({ roles }) => roles.includes('engine'))
        .map(({ id }) => id),
    )
  let owners: readonly (string | undefined)[] | undefined
  const forget = (): void => {
    owners = undefined
  }
  membership.onChange(forget)
  const ownerNow = (partition: number): string | undefined => {
    owners ??= Array.from({ length: partitions }, (_, each) => owner(each))
    return owners[partition]
  }
  return {
    partitions,
    partitionOf: (deviceId) => partitionOf(deviceId, partitions),
    ownerOf: ownerNow,
    owns: (partition) => connection?.connected !== false && ownerNow(partition) === membership.self.id,
    onChange(listener) {
      const stops = [membership.onChange(listener), connection?.onConnection(listener)]
      return () => {
        for (const stop of stops) stop?.()
      }
    },
  }
}

/** Everything is this process's. */
export function soleOwner(self: string): PartitionOwners {
  return {
    partitions: 1,
    partitionOf: () => 0,
    ownerOf: () => self,
    owns: () => true,
    onChange: () => () => undefined,
  }
}
