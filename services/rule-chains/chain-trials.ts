/** Trials of rule chains, where this process runs chains: whoever runs them says so. */
import type { ChainTrials, TrialOrder, TrialReport, TrialVersions } from '../../model/chain-trial.ts'
import { RuleChainErrors } from './errors.ts'

export class ChainTrialDesk implements ChainTrials {
  private trials: ChainTrials | undefined

  follow(trials: ChainTrials): void {
    this.trials = trials
  }

  begin(order: TrialOrder, versions: TrialVersions): TrialReport {
    return this.here().begin(order, versions)
  }

  report(tenantId: string, id: string): TrialReport {
    return this.here().report(tenantId, id)
  }

  async stop(tenantId: string, id: string): Promise<TrialReport> {
    return this.here().stop(tenantId, id)
  }

  private here(): ChainTrials {
    if (this.trials === undefined) throw RuleChainErrors.NO_ENGINE_HERE()
    return this.trials
  }
}
