/** What the contract of declared entities acts on: a platform, and of each type as many good ones as a check wants. */
import { randomUUID } from 'node:crypto'
import type { EntityType } from '../../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { TestPlatform } from '../testkit.ts'
import { DECLARED } from './declared.ts'
import { draftOf, type ColumnSet, type DraftOf, type EntityDefinition, type RecordOf } from './define.ts'
import type { EntityService } from './entity-service.ts'

export type AnyDefinition = EntityDefinition<ColumnSet>
export type AnyRecord = RecordOf<ColumnSet>
export type AnyDraft = DraftOf<ColumnSet>

/** Not where a tenant has one from its start, and users save none. */
export function hasMany({ unique = [] }: AnyDefinition): boolean {
  return unique.every(({ members }) => members.length > 0)
}

export class ContractWorld {
  readonly platform: TestPlatform
  /** Of things that are there, by the names that paths give them. */
  readonly ids: Record<string, string>
  private made = 0

  constructor(platform: TestPlatform) {
    this.platform = platform
    const { tenantId, tenant, customer } = platform
    this.ids = { tenantId, userId: tenant.userId, customerId: customer.customerId ?? '' }
  }

  /** Who makes entities of the type. */
  maker({ permissions }: AnyDefinition): Principal {
    const row = permissions.TENANT_ADMIN
    const mayCreate = row === 'all' || row?.includes('CREATE') === true
    return mayCreate ? this.platform.tenant : this.platform.systemAdministrator
  }

  service(definition: AnyDefinition): EntityService<ColumnSet> {
    return this.platform.services.declared.of(definition)
  }

  /** The example with texts of its own where no two may have the same. */
  draft(definition: AnyDefinition, members: Readonly<Record<string, unknown>> = {}): AnyDraft {
    const json = withOwnTexts(definition, definition.example(this.ids), ++this.made)
    return { ...parsed(definition, json), ...draftOf<ColumnSet>(members) }
  }

  async make(definition: AnyDefinition, members: Readonly<Record<string, unknown>> = {}): Promise<AnyRecord> {
    const record = await this.service(definition).saveByUser(this.maker(definition), this.draft(definition, members))
    this.ids[idName(definition.type)] ??= record.id
    return record
  }

  /** One of each type that stands before this one in the list, for examples that name it. */
  async makeThoseBefore(definition: AnyDefinition): Promise<void> {
    for (const before of DECLARED) {
      if (before.type === definition.type) return
      if (!hasMany(before)) continue
      if (this.ids[idName(before.type)] === undefined) await this.make(before)
    }
  }

  stranger(): Principal {
    return { ...this.platform.tenant, tenantId: randomUUID(), userId: randomUUID() }
  }
}

/** `deviceProfileId` of `DEVICE_PROFILE`. */
function idName(type: EntityType): string {
  return `${type.toLowerCase().replace(/_(\w)/g, (_whole, letter: string) => letter.toUpperCase())}Id`
}

/** What a client's JSON means, member by member. */
function parsed({ columns }: AnyDefinition, json: JsonObject): AnyDraft {
  const members: Record<string, unknown> = {}
  for (const [member, { input }] of Object.entries(columns)) members[member] = input.parse(json[member])
  return draftOf<ColumnSet>(members)
}

/** Such texts are made different at their ends, before the `@` of a mail address. */
function withOwnTexts({ columns, name, unique = [] }: AnyDefinition, json: JsonObject, number: number): JsonObject {
  const own: Record<string, JsonValue> = { ...json }
  for (const member of new Set([name, ...unique.flatMap(({ members }) => members)])) {
    const value = own[member]
    const isOneOfFew = columns[member]?.shape['enum'] !== undefined
    if (typeof value === 'string' && !isOneOfFew) own[member] = value.replace(/^([^@]*)/, `$1${number}`)
  }
  return own
}
