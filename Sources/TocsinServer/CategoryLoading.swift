import TocsinAPI
import TocsinCore

/// The categories of notifications: the operator's file, or those that ship.
enum CategoryLoading {
    static func load(path: String?) throws(StartError) -> [NotificationCategory] {
        let reading: CategoryReading
        if let path {
            do throws(SettingsFiles.Failure) {
                let bytes = try SettingsFiles.system(environment: [:]).read(path)
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw SettingsFiles.Failure(reason: "it is not UTF-8")
                }
                reading = CategoryReading(text, file: path)
            } catch {
                throw StartError("\(path) cannot be read: \(error.reason). Mend TOCSIN_CATEGORIES or the file.")
            }
        } else {
            reading = .shipped
        }
        guard reading.problems.isEmpty else { throw StartError(reading.problems.joined(separator: "\n")) }
        return reading.categories
    }
}
