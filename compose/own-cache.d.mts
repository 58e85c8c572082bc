import type { Stats } from 'node:fs'

export function mayRunFrom(
  paths: readonly string[],
  uid?: number,
  stat?: (path: string, options: { readonly throwIfNoEntry: false }) => Pick<Stats, 'uid' | 'gid' | 'mode'> | undefined,
): boolean
export function withEntries(folder: string): readonly string[]
