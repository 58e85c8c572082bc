/** What the platform wants of one client: what its device and that one's profile say, for the objects that it has. */
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../model/json.ts'
import { planOf, profileOf, type ClientPlan, type Lwm2mProfile } from './profile.ts'
import type { Registration } from './registrations.ts'

type Configured = { readonly [member in 'lwm2m' | 'ownLwm2m']: JsonObject | undefined }

export class ClientProfile {
  profile: Lwm2mProfile
  plan: ClientPlan
  private readonly registration: Registration
  /** What it was made of. */
  private configured: Configured

  /** Throws PROFILE. */
  constructor(registration: Registration) {
    this.registration = registration
    this.configured = configuredIn(registration)
    this.profile = profileIn(this.configured)
    this.plan = planOf(this.profile, registration)
  }

  /** A profile that was saved with another name says the same to a client: it is not asked for all of it once more. */
  isOutdated(): boolean {
    const configured = configuredIn(this.registration)
    if (!isDeepStrictEqual(configured, this.configured)) return true
    this.configured = configured
    return false
  }

  /** Throws PROFILE: it is as before then, until that is mended. */
  renew(): void {
    this.configured = configuredIn(this.registration)
    this.profile = profileIn(this.configured)
    this.plan = planOf(this.profile, this.registration)
  }
}

function configuredIn({ session: { device } }: Registration): Configured {
  return { lwm2m: device.lwm2m, ownLwm2m: device.ownLwm2m }
}

function profileIn({ lwm2m, ownLwm2m }: Configured): Lwm2mProfile {
  return profileOf(lwm2m ?? {}, ownLwm2m)
}
