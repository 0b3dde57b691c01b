import TocsinClient

/// Brings one post to the server: through the spool, so that it is not lost, or past it where there
/// is none.
struct HostPost {
    let settings: HostSettings

    /// How long a command sends before it leaves the rest to later ones.
    static let patience: Duration = .seconds(3)

    private var spool: Spool { Spool(folder: settings.spool) }

    /// Returns when the post is sent or on the disk, and fails when it is neither.
    func deliver(_ entry: SpoolEntry) async throws {
        do throws(ClientError) {
            // A wrong address or key is told while somebody looks.
            try SpoolPoster(entry).close()
        } catch {
            throw CommandFailure("Nothing was sent or kept: \(SpoolPoster.clause(error)).")
        }
        let name: String
        do throws(Spool.Failure) {
            name = try await add(entry)
        } catch {
            switch error {
            case .full(let files, let bytes):
                throw CommandFailure(
                    "Nothing was sent or kept: \(spool.folder) is full with \(files) files of \(bytes) bytes (at most "
                        + "\(Spool.maximumFiles) and \(Spool.maximumBytes)). They go out when the server can be reached."
                )
            case .unusable(let reason): return try await sendPastSpool(entry, reason)
            }
        }
        try await report(on: name)
    }

    /// Adds behind what waits; a full spool is sent from first.
    private func add(_ entry: SpoolEntry) async throws(Spool.Failure) -> String {
        do throws(Spool.Failure) {
            return try await spool.add(entry)
        } catch {
            guard case .full = error else { throw error }
            _ = try await makeSender().send()
            return try await spool.add(entry)
        }
    }

    private func makeSender() -> SpoolSender {
        SpoolSender(spool: spool, server: settings.server, deadline: .now + Self.patience)
    }

    /// Sends, and tells what has not gone as it should.
    private func report(on name: String) async throws {
        let report: SpoolSender.Report
        do throws(Spool.Failure) {
            report = try await makeSender().send()
        } catch {
            // It is on the disk, which is what was promised.
            guard case .unusable(let reason) = error else { return }
            return Terminal.remark("The event waits in \(spool.folder): \(reason).")
        }
        for (other, reason) in report.refused where other != name {
            Terminal.remark("An earlier event was refused and lies in \(spool.refusedFolder)/\(other): \(reason).")
        }
        switch report.fates[name] {
        case .refused(let reason):
            throw CommandFailure("The event was refused and lies in \(spool.refusedFolder)/\(name): \(reason).")
        case .waiting(let reason): Terminal.remark("The event waits in \(spool.folder): \(reason).")
        case .sent, nil: break
        }
    }

    /// A spool that cannot be used keeps nothing, so that there is no order to break.
    private func sendPastSpool(_ entry: SpoolEntry, _ reason: String) async throws {
        if let waiting = try? spool.names(), !waiting.isEmpty {
            throw CommandFailure("Nothing was sent or kept: \(reason), and \(waiting.count) earlier events wait there.")
        }
        let fate: SpoolSender.Fate
        do throws(ClientError) {
            let poster = try SpoolPoster(entry)
            fate = await poster.post(entry, until: .now + Self.patience)
            poster.close()
        } catch {
            fate = .waiting(reason: SpoolPoster.clause(error))
        }
        switch fate {
        case .sent: Terminal.remark("Sent, but there is no spool: \(reason).")
        case .refused(let answer): throw CommandFailure("The event was refused: \(answer).")
        case .waiting(let failure):
            throw CommandFailure("Nothing was sent or kept: \(failure), and there is no spool: \(reason).")
        }
    }
}
