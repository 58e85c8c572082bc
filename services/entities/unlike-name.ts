/** A name that nobody has yet, in the place of one that is taken. Source: `rest-api.md` 3.3. */
import type { Principal } from '../../model/principal.ts'
import { randomText } from '../users/secrets.ts'
import type { ColumnSet, DraftOf } from './define.ts'
import type { EntityService } from './entity-service.ts'
import { memberText } from './record-members.ts'

export const CONFLICT_POLICIES = ['FAIL', 'UNIQUIFY'] as const
export const UNLIKE_STRATEGIES = ['RANDOM', 'INCREMENTAL'] as const

export interface NameConflict {
  readonly policy: (typeof CONFLICT_POLICIES)[number]
  /** Between the name and what follows it. */
  readonly separator: string
  /** Six letters and digits, or the first number that is free. */
  readonly strategy: (typeof UNLIKE_STRATEGIES)[number]
}

const RANDOM_LENGTH = 6
/** After so many numbers the name stays as it was sent, and the save is refused. */
const MAX_NUMBERS = 1_000

/**
 * The draft with a name of its own where another one of the tenant has it and the policy is `UNIQUIFY`. Who takes the name between this
 * and the save wins: then the save is refused as with `FAIL`.
 */
export async function withUnlikeName<Columns extends ColumnSet>(
  service: EntityService<Columns>,
  principal: Principal,
  draft: DraftOf<Columns>,
  { policy, separator, strategy }: NameConflict,
): Promise<DraftOf<Columns>> {
  const member = service.definition.name
  const wanted = memberText(draft, member)
  if (policy === 'FAIL' || wanted === null) return draft
  const tenantId = service.tenantOf(principal)
  const isFree = async (name: string): Promise<boolean> => {
    const other = await service.findByName(tenantId, name)
    return other === undefined || other.id === draft.id
  }
  if (await isFree(wanted)) return draft
  for (let number = 1; number <= MAX_NUMBERS; number++) {
    const name = `${wanted}${separator}${strategy === 'RANDOM' ? randomText(RANDOM_LENGTH) : number}`
    if (await isFree(name)) return { ...draft, [member]: name }
  }
  return draft
}
