/** What is special about widgets: lists over the own ones and the system's, names with a scope, and what bundles hold (`rest-api.md` 14.2). */
import type { Clock, Random } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { Condition, RowStore, Searched } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { DraftOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { EntityService } from '../entities/entity-service.ts'
import { widgetTypeInfo, widgetTypes, type WidgetType } from '../entities/widget-type.ts'
import { BUNDLE_WIDGETS, widgetsBundles, type WidgetsBundle } from '../entities/widgets-bundle.ts'
import { itemNotFound } from '../errors.ts'
import { ContentErrors } from './errors.ts'

export interface WidgetsParts {
  readonly declared: EntityRegistry
  readonly entities: EntityStore
  readonly clock: Clock
  readonly random: Random
}

export interface WidgetTypeFilter {
  readonly tenantOnly?: boolean
  readonly fullSearch?: boolean
  readonly scadaFirst?: boolean
  readonly deprecated?: boolean | undefined
  /** Kinds: `latest`, `timeseries` … */
  readonly kinds?: readonly string[]
  readonly widgetsBundleId?: string
}

export interface BundleFilter {
  readonly tenantOnly?: boolean
  readonly fullSearch?: boolean
  readonly scadaFirst?: boolean
}

const SCADA_FIRST = [{ column: 'scada', direction: 'DESC' }] as const
const ALL_COLUMNS_OF_TYPES = ['name', 'description', 'tags'] as const

export class Widgets {
  private readonly parts: WidgetsParts
  private readonly types: EntityService<typeof widgetTypes.columns>
  private readonly bundles: EntityService<typeof widgetsBundles.columns>

  constructor(parts: WidgetsParts) {
    this.parts = parts
    this.types = parts.declared.of(widgetTypes)
    this.bundles = parts.declared.of(widgetsBundles)
  }

  /** Over the own one of that fqn where `updatesByFqn`. */
  async saveType(
    principal: Principal,
    draft: DraftOf<typeof widgetTypes.columns>,
    updatesByFqn: boolean,
  ): Promise<WidgetType> {
    const { fqn } = draft
    if (!updatesByFqn || draft.id !== undefined || fqn === undefined || fqn === '')
      return this.types.saveByUser(principal, draft)
    const known = await this.types.findBy(this.types.tenantOf(principal), { fqn })
    return this.types.saveByUser(principal, known === undefined ? draft : { ...draft, id: known.id })
  }

  /** `system.card`, `tenant.card`; without a scope the own one. */
  async findByFqn(principal: Principal, scoped: string): Promise<WidgetType> {
    const [, scope = 'tenant', fqn = ''] = /^(?:(system|tenant)\.)?(.+)$/s.exec(scoped) ?? []
    const type = await this.types.findBy(ownerIn(principal, scope === 'system'), { fqn })
    if (type === undefined) throw ContentErrors.NOT_FOUND()
    return type
  }

  /** As dashboards of old name them. */
  findByAliases(principal: Principal, isSystem: boolean, bundleAlias: string, alias: string): Promise<WidgetType> {
    return this.findByFqn(principal, `${isSystem ? 'system' : 'tenant'}.${bundleAlias}.${alias}`)
  }

  async findBundleByAlias(principal: Principal, isSystem: boolean, alias: string): Promise<WidgetsBundle> {
    const bundle = await this.bundles.findBy(ownerIn(principal, isSystem), { alias })
    if (bundle === undefined) throw ContentErrors.NOT_FOUND()
    return bundle
  }

  typePage(principal: Principal, filter: WidgetTypeFilter, query: PageQuery): Promise<Page<WidgetType>> {
    const where: Condition[] = [visible(principal, filter.tenantOnly === true)]
    if (filter.deprecated !== undefined) where.push({ column: 'deprecated', is: filter.deprecated ? 1 : 0 })
    if (filter.kinds !== undefined && filter.kinds.length > 0) where.push({ column: 'widget_kind', in: filter.kinds })
    if (filter.widgetsBundleId !== undefined) where.push(inBundle(filter.widgetsBundleId))
    return this.types.pageWhere({
      where,
      query,
      search: filter.fullSearch === true ? ALL_COLUMNS_OF_TYPES : ['name'],
      sort: { widgetType: 'widget_kind' },
      first: filter.scadaFirst === true ? SCADA_FIRST : [],
    })
  }

  bundlePage(principal: Principal, filter: BundleFilter, query: PageQuery): Promise<Page<WidgetsBundle>> {
    return this.bundles.pageWhere({
      where: [visible(principal, filter.tenantOnly === true)],
      query,
      search: filter.fullSearch === true ? ['title', 'description', IN_WIDGETS] : ['title'],
      first: filter.scadaFirst === true ? SCADA_FIRST : [],
    })
  }

  async allBundles(principal: Principal): Promise<readonly WidgetsBundle[]> {
    const found = await this.bundles.findWhere([visible(principal, false)])
    return found.toSorted((a, b) => compare(a.title, b.title))
  }

  bundlesByIds(principal: Principal, ids: readonly string[]): Promise<readonly WidgetsBundle[]> {
    return this.bundles.findWhere([visible(principal, false), { column: 'id', in: ids }])
  }

  /** The types of a bundle that the caller may see, in its order. */
  async typesOf(principal: Principal, widgetsBundleId: string): Promise<readonly WidgetType[]> {
    const places = await this.rows().findAll([{ column: 'widgets_bundle_id', is: widgetsBundleId }])
    const positions = new Map(places.map((row) => [row['widget_type_id'], Number(row['position'])]))
    const types = await this.types.findWhere([visible(principal, false), inBundle(widgetsBundleId)])
    return types.toSorted((a, b) => (positions.get(a.id) ?? 0) - (positions.get(b.id) ?? 0))
  }

  /** These in this order, and no others. Throws `WIDGET_TYPE_UNKNOWN`. */
  async setContent(principal: Principal, bundleId: string, typeIds: readonly string[]): Promise<void> {
    const bundle = await this.bundles.findAnywhere(bundleId)
    if (bundle === undefined) throw itemNotFound({ entityType: 'WIDGETS_BUNDLE', id: bundleId })
    const ids = [...new Set(typeIds)]
    const known = await this.types.findWhere([visible(principal, false), { column: 'id', in: ids }])
    const unknown = ids.find((id) => !known.some((type) => type.id === id))
    if (unknown !== undefined) throw ContentErrors.WIDGET_TYPE_UNKNOWN({ name: unknown })
    const { clock, random } = this.parts
    const rows = this.rows()
    const places = ids.map((id, position) =>
      rows.insert({
        id: random.uuid(),
        created_time: clock.now(),
        version: 1,
        tenant_id: bundle.tenantId,
        widgets_bundle_id: bundle.id,
        widget_type_id: id,
        position,
      }),
    )
    const statements = [rows.deleteAll([{ column: 'widgets_bundle_id', is: bundle.id }]), ...places]
    await this.bundles.changeBesideByUser(principal, bundle, statements)
  }

  /** The same by names: with a scope, or else the bundle's own. */
  async setContentByFqns(principal: Principal, bundleId: string, fqns: readonly string[]): Promise<void> {
    const types = await Promise.all(fqns.map((fqn) => this.findByFqn(principal, fqn)))
    return this.setContent(
      principal,
      bundleId,
      types.map(({ id }) => id),
    )
  }

  /** What lists show, with the bundles that hold each and that the caller may see. */
  async infos(principal: Principal, types: readonly WidgetType[]): Promise<JsonObject[]> {
    const details = await this.types.render(types)
    const places = await this.rows().findAll([{ column: 'widget_type_id', in: types.map(({ id }) => id) }])
    const bundles = new Map<unknown, WidgetsBundle>()
    const ids = [...new Set(places.map((row) => String(row['widgets_bundle_id'])))]
    for (const bundle of await this.bundlesByIds(principal, ids)) bundles.set(bundle.id, bundle)
    return types.map((type, index) => ({
      ...widgetTypeInfo(type, details[index] ?? {}),
      bundles: places
        .filter((row) => row['widget_type_id'] === type.id)
        .flatMap((row) => bundles.get(row['widgets_bundle_id']) ?? [])
        .toSorted((a, b) => compare(a.title, b.title))
        .map(({ id, title }) => ({ id: { entityType: 'WIDGETS_BUNDLE', id }, name: title })),
    }))
  }

  private rows(): RowStore {
    const overtaken = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Widgets bundle' })
    const taken = { 'widgets_bundle_id, widget_type_id': overtaken }
    return this.parts.entities.rows(BUNDLE_WIDGETS, { taken, overtaken })
  }
}

/** A bundle is found by the types that it holds. */
const IN_WIDGETS: Searched = {
  column: 'id',
  through: { table: BUNDLE_WIDGETS.name, from: 'widgets_bundle_id', to: 'widget_type_id' },
  table: widgetTypes.storedAs.name,
  columns: ALL_COLUMNS_OF_TYPES,
}

function visible({ tenantId }: Principal, isOwnOnly: boolean): Condition {
  if (tenantId === null) return { column: 'tenant_id', is: SYSTEM_TENANT }
  return { column: 'tenant_id', in: isOwnOnly ? [tenantId] : [tenantId, SYSTEM_TENANT] }
}

function inBundle(widgetsBundleId: string): Condition {
  const where = { widgets_bundle_id: widgetsBundleId }
  return { column: 'id', among: { table: BUNDLE_WIDGETS.name, column: 'widget_type_id', where } }
}

function ownerIn({ tenantId }: Principal, isSystem: boolean): string {
  return isSystem || tenantId === null ? SYSTEM_TENANT : tenantId
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
