import Logging
package import Metrics
import Synchronization
import TocsinCore
import TocsinStore

/// Reads the settings anew, with all the files they name, and takes what may change while the
/// server runs: all of it, or nothing.
///
/// Everything is read and checked before anything is changed. What needs a restart is named and
/// stays as it was.
package final class Reloader: Sendable {
    /// Reads flags, environment and files as at the start.
    package typealias Reading = @Sendable () throws(SettingsProblems) -> SettingsReading

    private struct State {
        var settings: Settings
        var declarations: Declarations
        var hash: Int
        var pending: [String] = []
        var counts = ReloadCounts()

        init(_ settings: Settings, _ declarations: Declarations) {
            (self.settings, self.declarations) = (settings, declarations)
            hash = SettingsHash.value(of: settings)
        }

        mutating func take(_ settings: Settings, _ declarations: Declarations) {
            (self.settings, self.declarations) = (settings, declarations)
            hash = SettingsHash.value(of: settings)
        }
    }

    private let parts: ReloadableParts
    private let read: Reading
    private let schema: SchemaFile
    private let logger: Logger
    private let state: Mutex<State>
    /// Held while one reload works, so that others wait for it.
    private let turn = Mutex(())

    init(_ parts: ReloadableParts, settings: Settings, declarations: Declarations, read: @escaping Reading) {
        self.parts = parts
        self.read = read
        logger = parts.process.logger
        schema = SchemaFile(settings.server.schemaPath)
        state = Mutex(State(settings, declarations))
    }

    /// How many reloads there were.
    package var counts: ReloadCounts { state.withLock { $0.counts } }

    /// The settings as they hold now.
    package var settings: Settings { state.withLock { $0.settings } }

    /// Settings that were changed since the start and need a restart, as the last reload saw it.
    package var pending: [String] { state.withLock { $0.pending } }

    /// Reloads once; reloads at the same time come one after the other.
    package func reload() async -> ReloadOutcome {
        // Files are read and keys are checked: that is for no thread of the pool.
        let outcome = try? await withThread("reload") { () throws(StoreError) in
            self.turn.withLock { _ in self.work() }
        }
        let result = outcome ?? ReloadOutcome(result: .refused, problems: ["The system has no thread to give."])
        state.withLock { state in
            state.counts.note(result.result)
            if result.result == .applied { state.pending = result.pending }
        }
        log(result)
        return result
    }

    private func work() -> ReloadOutcome {
        let reading: SettingsReading
        do throws(SettingsProblems) {
            reading = try read()
        } catch {
            return ReloadOutcome(result: .refused, problems: error.problems, warnings: error.warnings)
        }
        let (current, declarations) = state.withLock { ($0.settings, $0.declarations) }
        let new = ReloadedSettings(current, taking: reading.settings)
        var outcome = ReloadOutcome(result: .refused, changed: [], pending: new.pending, warnings: reading.warnings)
        if schema.hasChanged, !outcome.pending.contains("schema") { outcome.pending.append("schema") }
        outcome.problems = SettingsConsistency(new.settings).problems
        if outcome.pending.contains("schema") {
            // It waits for a restart, which must not be the first to find it broken.
            do throws(StartError) {
                _ = try SchemaLoading.load(reading.settings.server)
            } catch {
                outcome.problems.append(error.description)
            }
        }
        guard outcome.problems.isEmpty else { return outcome }
        let plan = ReloadPlan(parts, from: current, to: new.settings, declarations)
        guard let declarations = plan.declarations, plan.problems.isEmpty else {
            outcome.problems = plan.problems
            return outcome
        }
        for step in plan.steps { step() }
        state.withLock { $0.take(new.settings, declarations) }
        (outcome.result, outcome.changed) = (.applied, new.changed)
        return outcome
    }

    private func log(_ outcome: ReloadOutcome) {
        for warning in outcome.warnings {
            logger.warning("look at a setting", metadata: ["event": "setting_odd", "reason": "\(warning)"])
        }
        switch outcome.result {
        case .refused:
            for problem in outcome.problems {
                logger.error(
                    "the settings were not reloaded; all is as before",
                    metadata: ["event": "settings_not_reloaded", "reason": "\(problem)"]
                )
            }
        case .applied:
            logger.notice(
                "the settings were reloaded, and the files that they name",
                metadata: ["event": "settings_reloaded", "changed": "\(outcome.changed.joined(separator: ", "))"]
            )
            for key in outcome.pending {
                logger.warning(
                    "a changed setting needs a restart",
                    metadata: ["event": "setting_pending", "setting": "\(key)"]
                )
            }
        }
    }
}

extension Reloader: MetricSource {
    /// How many reloads there were, and which settings are in force.
    package var families: [MetricFamily] {
        let (counts, hash) = state.withLock { ($0.counts, $0.hash) }
        let samples = ReloadOutcome.Result.allCases.map { result in
            MetricSample(labels: metricLabel("result", result.rawValue), .integer(counts[result]))
        }
        return [
            MetricFamily(.counter, "tocsin_reloads_total", "Reloads, by what came of them", samples),
            .gauge("tocsin_settings_hash", "A number that nodes with the same settings in force share", hash),
        ]
    }
}

/// The model file as it was at the start.
private struct SchemaFile: Sendable {
    private let path: String?
    private let text: String?

    init(_ path: String?) {
        self.path = path
        text = Self.text(of: path)
    }

    /// Whether the file says something else by now; one that cannot be read says nothing.
    var hasChanged: Bool {
        guard let now = Self.text(of: path) else { return false }
        return now != text
    }

    private static func text(of path: String?) -> String? {
        // A pipe has told all that it had.
        path.flatMap { SystemFile.isPlain($0) ? try? SystemFile.text(of: $0) : nil }
    }
}
