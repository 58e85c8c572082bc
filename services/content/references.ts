/** Who shows a file: while somebody does, it goes only by force. */
import type { JsonObject } from '../../model/json.ts'
import type { EntityType } from '../../model/entity-id.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { ColumnSet, RecordOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { columnOf } from '../entities/define.ts'
import { nameOf } from '../entities/record-members.ts'
import { linkOf, type TbResource } from '../entities/tb-resource.ts'

export type References = Readonly<Record<string, JsonObject[]>>

/** Of each type that shows it. */
const MAX_SHOWN = 10
const MAX_READ = 100

/** Members that may name an image; those of `FILES` name files too. */
const IMAGES: Readonly<Partial<Record<EntityType, readonly string[]>>> = {
  WIDGET_TYPE: ['image', 'descriptor'],
  WIDGETS_BUNDLE: ['image'],
  DEVICE_PROFILE: ['image'],
  ASSET_PROFILE: ['image'],
  DASHBOARD: ['image', 'configuration'],
}
const FILES: Readonly<Partial<Record<EntityType, readonly string[]>>> = {
  WIDGET_TYPE: ['descriptor'],
  DASHBOARD: ['configuration'],
}

/** Undefined where nobody shows it. What is the system's any tenant may show. */
export async function referencesTo(declared: EntityRegistry, record: TbResource): Promise<References | undefined> {
  const link = linkOf(record)
  const references: Record<string, JsonObject[]> = {}
  const holders = Object.entries(record.resourceType === 'IMAGE' ? IMAGES : FILES)
  for (const [type, members] of holders) {
    const service = declared.all().find(({ definition }) => definition.type === type)
    if (service === undefined) throw new TypeError(`${type} is not served`)
    const { columns } = service.definition
    const anyOf = members.map((member) => ({ column: columnOf(member, columns[member]), holds: link }))
    const where: Condition[] = [{ anyOf }]
    if (record.tenantId !== SYSTEM_TENANT) where.push({ column: 'tenant_id', is: record.tenantId })
    const candidates = await service.findWhere(where, MAX_READ)
    const found = candidates.filter((holder) => names(holder, members, link))
    if (found.length > 0)
      references[type] = found.slice(0, MAX_SHOWN).map((holder) => {
        const name = nameOf(service.definition, holder)
        return {
          id: { entityType: type, id: holder.id },
          createdTime: holder.createdTime,
          tenantId: { entityType: 'TENANT', id: holder.tenantId },
          name,
          ...(service.definition.name === 'title' ? { title: name } : {}),
        }
      })
  }
  return Object.keys(references).length === 0 ? undefined : references
}

/** The link and not only its beginning: `a.png` is not `a.png2`. */
function names(holder: RecordOf<ColumnSet>, members: readonly string[], link: string): boolean {
  return members.some((member) => {
    const value = holder[member]
    const text = typeof value === 'string' ? value : JSON.stringify(value ?? '')
    for (let at = text.indexOf(link); at >= 0; at = text.indexOf(link, at + 1))
      if (!/^[\w.%~-]/.test(text.slice(at + link.length))) return true
    return false
  })
}
