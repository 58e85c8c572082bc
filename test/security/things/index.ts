/** What the first tenant of the security walk owns and its customer user has no part in: one file a resource, one line here. */
import type { TestPlatform } from '../../../services/testkit.ts'
import { makeAssets } from './assets.ts'
import { makeCustomers } from './customers.ts'
import { makeDashboards } from './dashboards.ts'

/** Makes things of a resource, named `secret …`, and answers their ids by the names that paths give them. Gets those made before. */
export type MakeThings = (
  platform: TestPlatform,
  ids: Readonly<Record<string, string>>,
) => Promise<Readonly<Record<string, string>>>

export const THINGS: readonly MakeThings[] = [makeCustomers, makeAssets, makeDashboards]
