/**
 * A device goes to another tenant: itself, its credentials, attributes and series. What it was to its former tenant stays behind: its
 * customer, packages, relations, alarms, calculated fields and calls. All of it in one transaction. Source: `rest-api.md` 5.2.
 */
import type { Clock, Random } from '../../model/clock.ts'
import { entityId, NULL_UUID } from '../../model/entity-id.ts'
import { stringifyJson } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { attemptedOn, savedData } from '../audit/audit-log.ts'
import { SYSTEM_TENANT, type Changes, type EntityEvent } from '../changes/changes.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import { notesOf } from '../entities/assigned-packages.ts'
import { devices, type Device } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { OTA_TYPES } from '../entities/ota-package.ts'
import { retried } from '../entities/retried.ts'
import { auditedJson } from '../entities/rows.ts'
import { tenants, type Tenant } from '../entities/tenant.ts'
import type { LimitsOfTenants } from '../tenants/limits.ts'
import type { CallService } from '../rpc/call-service.ts'
import { OnboardingErrors } from './errors.ts'

export interface DeviceMoveParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly changes: Changes
  readonly limits: Pick<LimitsOfTenants, 'guard'>
  readonly feed: ChangeFeed
  readonly calls: Pick<CallService, 'withdrawOf'>
  readonly doubts: CommitDoubts
  readonly clock: Clock
  readonly random: Random
}

export class DeviceMove {
  private readonly parts: DeviceMoveParts

  constructor(parts: DeviceMoveParts) {
    this.parts = parts
  }

  /** Throws `TENANT_UNKNOWN`, `VIEWED`, and what a save of the device there throws: a name that is taken, a limit that is reached. */
  async moveByUser(principal: Principal, deviceId: string, tenantId: string): Promise<Device> {
    const tried = () => attemptedOn('ASSIGNED_TO_TENANT', entityId('DEVICE', deviceId))
    return this.parts.changes.attempt(principal, tried, () =>
      retried('Device', () => this.move(principal, deviceId, tenantId)),
    )
  }

  private async move(principal: Principal, deviceId: string, tenantId: string): Promise<Device> {
    const { entities, declared, changes, limits, calls, clock, random, doubts } = this.parts
    const service = declared.of(devices)
    const before = await service.find(principal.tenantId ?? '', deviceId)
    if (before === undefined) throw OnboardingErrors.DEVICE_UNKNOWN()
    const tenant = await declared.of(tenants).find(SYSTEM_TENANT, tenantId)
    if (tenant === undefined) throw OnboardingErrors.TENANT_UNKNOWN()
    if (tenantId === before.tenantId) return before
    const { device, statements } = await this.there(principal, before, tenantId)
    const credentials = await entities.deviceCredentials.findByDevice(deviceId)
    if (credentials === undefined) throw OnboardingErrors.DEVICE_UNKNOWN()
    const moved = { ...credentials, tenantId, version: credentials.version + 1 }
    const noted = { id: random.uuid(), movedTime: clock.now(), deviceId, formerTenantId: before.tenantId, tenantId }
    const steps = [
      ...(await limits.guard(tenantId, 'DEVICE')),
      ...statements,
      entities.devices.requireUnviewed(before, () => OnboardingErrors.VIEWED()),
      service.update(device),
      ...entities.deviceCredentials.update(moved),
      ...entities.deleteLinks(deviceId),
      entities.rpcs.deleteOf(deviceId),
      entities.deviceClaims.withdraw(deviceId),
      entities.deviceSessions.removeOf(deviceId),
      ...entities.movedDevices.note(noted),
      ...entities.credentialChanges.note(deviceId, clock.now()),
      // It keeps its shared attributes: those of a package of its former tenant too, until it is told anew.
      ...notesOf('DEVICE', device, OTA_TYPES, declared),
    ]
    const commit = changes.commitAll(steps, await this.events(principal, before, device, tenant))
    await doubts.watch(commit, () => this.tell(deviceId))
    calls.withdrawOf(before.tenantId, deviceId)
    this.tell(deviceId)
    return device
  }

  /** As a new one of that type would be, under its own id. */
  private async there(principal: Principal, before: Device, tenantId: string) {
    const { declared } = this.parts
    const asNew: Device = {
      ...before,
      version: before.version + 1,
      tenantId,
      customerId: null,
      deviceProfileId: '',
      firmwareId: null,
      softwareId: null,
    }
    const saving = {
      principal,
      draft: { type: before.type },
      before: undefined,
      services: declared,
      siblings: declared.of(devices),
    }
    const prepared = await devices.prepare?.(asNew, saving)
    return { device: prepared?.record ?? asNew, statements: prepared?.statements ?? [] }
  }

  private async events(
    principal: Principal,
    before: Device,
    device: Device,
    tenant: Tenant,
  ): Promise<readonly EntityEvent[]> {
    const { declared } = this.parts
    const service = declared.of(devices)
    const former = await declared.of(tenants).find(SYSTEM_TENANT, before.tenantId)
    const originator = entityId('DEVICE', device.id)
    const json = devices.jsonOf(device)
    const data = stringifyJson(json)
    return [
      {
        ...(await service.routeOf(before)),
        type: 'ENTITY_ASSIGNED_TO_TENANT',
        principal,
        originator,
        metadata: { assignedToTenantId: tenant.id, assignedToTenantName: tenant.title },
        data,
        audit: { entityName: device.name, actionData: savedData({ entity: auditedJson(devices, json) }) },
      },
      {
        ...(await service.routeOf(device)),
        type: 'ENTITY_ASSIGNED_FROM_TENANT',
        principal: nobodyOf(tenant),
        originator,
        metadata: { assignedFromTenantId: before.tenantId, assignedFromTenantName: former?.title ?? '' },
        data,
        audit: { entityName: device.name },
      },
    ]
  }

  /** Sessions of the device end: they were its former tenant's. Who follows it asks again whether they may. */
  private tell(deviceId: string): void {
    this.parts.feed.publish({
      kind: 'device-changed',
      entity: entityId('DEVICE', deviceId),
      credentialsChanged: true,
      hasMoved: true,
    })
  }
}

/** Whoever gave the device is a stranger to the tenant that gets it. */
function nobodyOf({ id }: Tenant): Principal {
  return {
    userId: NULL_UUID,
    email: '',
    authority: 'TENANT_ADMIN',
    tenantId: id,
    customerId: null,
    firstName: null,
    lastName: null,
    isDevice: true,
  }
}
