/** What makes the things of one resource for the security walk. */
import type { TestPlatform } from '../../../services/testkit.ts'

/** Makes things of a resource, named `secret …`, and answers their ids by the names that paths give them. Gets those made before. */
export type MakeThings = (
  platform: TestPlatform,
  ids: Readonly<Record<string, string>>,
) => Promise<Readonly<Record<string, string>>>
