package import TocsinCore

/// What is to be imported, and how.
package struct DeviceImportRequest: Sendable {
    /// The file of CSV.
    package var path: String
    /// Whose devices they are; nil: the file tells.
    package var platform: PushPlatform?
    /// Whether nothing is to be changed.
    package var isDry = false

    /// An import of a file.
    package init(path: String) { self.path = path }
}

/// How far an import of devices is.
package struct DeviceImportCounts: Sendable, Hashable {
    /// Devices that are new here.
    package var added = 0
    /// Devices that were here already, and stay as they are.
    package var known = 0
    /// Rows that were not taken.
    package var refused = 0
    /// All rows so far.
    package var rows: Int { added + known + refused }
}

/// What is to be said while an import of devices runs.
package enum DeviceImportNews: Sendable {
    /// A row was not taken, for this reason.
    case refused(line: Int, reason: String)
    /// Columns of the file that mean nothing here.
    case ignored(columns: [String])
    /// So far.
    case progress(DeviceImportCounts)
}

extension OfflineStore {
    /// Takes in the devices of another push service's table, row by row; a repeat changes nothing.
    ///
    /// Memory is bounded by a few hundred rows, whatever the file has.
    package func importDevices(
        _ request: DeviceImportRequest,
        news: (DeviceImportNews) -> Void
    ) async throws(ServiceError) -> DeviceImportCounts {
        var work = DeviceImport(request: request, devices: devices)
        return try await work.run(news)
    }
}

/// The work of one import of devices.
private struct DeviceImport {
    let request: DeviceImportRequest
    let devices: DeviceService
    private var counts = DeviceImportCounts()
    private var batch: [(line: Int, device: DeviceService.Imported)] = []
    /// Rows of one transaction, and of one report.
    private static let rowsAtOnce = 500

    init(request: DeviceImportRequest, devices: DeviceService) {
        self.request = request
        self.devices = devices
    }

    mutating func run(_ news: (DeviceImportNews) -> Void) async throws(ServiceError) -> DeviceImportCounts {
        var rows = try opened()
        let table = try table(of: next(&rows))
        if !table.ignored.isEmpty { news(.ignored(columns: table.ignored)) }
        while let row = try next(&rows) {
            read(row, table, news)
            guard batch.count == Self.rowsAtOnce else { continue }
            try await takeBatch(news)
            news(.progress(counts))
        }
        try await takeBatch(news)
        return counts
    }

    private func opened() throws(ServiceError) -> CSVRows {
        do throws(SystemFile.Failure) {
            return try CSVRows(path: request.path)
        } catch {
            throw unreadable(error)
        }
    }

    private func next(_ rows: inout CSVRows) throws(ServiceError) -> CSVRows.Row? {
        do throws(SystemFile.Failure) {
            return try rows.next()
        } catch {
            throw unreadable(error)
        }
    }

    private func unreadable(_ failure: SystemFile.Failure) -> ServiceError {
        .badInput("\(request.path) cannot be imported: \(failure.reason).")
    }

    private func table(of header: CSVRows.Row?) throws(ServiceError) -> DeviceTable {
        guard let header, header.fault == nil else {
            throw .badInput("\(request.path) has no first row that names the columns.")
        }
        do throws(DeviceTable.Problem) {
            return try DeviceTable(header: header.fields, path: request.path, platform: request.platform)
        } catch {
            throw .badInput(error.sentence)
        }
    }

    private mutating func read(_ row: CSVRows.Row, _ table: DeviceTable, _ news: (DeviceImportNews) -> Void) {
        if let fault = row.fault { return refuse(row.line, fault + ".", news) }
        do throws(DeviceTable.Problem) {
            batch.append((row.line, try table.device(row.fields)))
        } catch {
            refuse(row.line, error.sentence, news)
        }
    }

    private mutating func refuse(_ line: Int, _ reason: String, _ news: (DeviceImportNews) -> Void) {
        counts.refused += 1
        news(.refused(line: line, reason: reason))
    }

    private mutating func takeBatch(_ news: (DeviceImportNews) -> Void) async throws(ServiceError) {
        let outcomes = try await devices.take(batch.map(\.device), isDry: request.isDry)
        for (row, outcome) in zip(batch, outcomes) {
            switch outcome {
            case .added: counts.added += 1
            case .known: counts.known += 1
            case .refused(let reason): refuse(row.line, reason, news)
            }
        }
        batch.removeAll(keepingCapacity: true)
    }
}
