//! Reads and writes as `Db` and `Family` both offer them.

/// The operations as methods, for a type with `operations()` and `counters`.
macro_rules! operations {
    () => {
        /// The value of a key; `None` if there is none.
        ///
        /// # Errors
        /// RocksDB's, as when a block does not read back.
        pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
            self.operations().get(key.as_ref())
        }

        /// The value of a key, read with options, as from a snapshot.
        ///
        /// # Errors
        /// RocksDB's, as when a block does not read back.
        pub fn get_opt(
            &self,
            key: impl AsRef<[u8]>,
            options: &rust_rocksdb::ReadOptions,
        ) -> Result<Option<Vec<u8>>> {
            self.operations().get_opt(key.as_ref(), options)
        }

        /// The value of a key, without a copy.
        ///
        /// # Errors
        /// RocksDB's, as when a block does not read back.
        pub fn get_pinned(
            &self,
            key: impl AsRef<[u8]>,
        ) -> Result<Option<rust_rocksdb::DBPinnableSlice<'_>>> {
            self.operations().get_pinned(key.as_ref())
        }

        /// The values of several keys, in their order.
        ///
        /// # Errors
        /// Each value has its own: RocksDB's, as when a block does not read back.
        pub fn multi_get<K: AsRef<[u8]>>(&self, keys: &[K]) -> Vec<Result<Option<Vec<u8>>>> {
            let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
            self.operations().multi_get(&keys)
        }

        /// Writes a value.
        ///
        /// # Errors
        /// RocksDB's, as while it refuses writes after a background error.
        pub fn put(&self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Result<()> {
            self.put_opt(key, value, &self.operations().write_options())
        }

        /// Writes a value, with options.
        ///
        /// # Errors
        /// RocksDB's, as while it refuses writes after a background error.
        pub fn put_opt(
            &self,
            key: impl AsRef<[u8]>,
            value: impl AsRef<[u8]>,
            options: &rust_rocksdb::WriteOptions,
        ) -> Result<()> {
            self.operations().put(key.as_ref(), value.as_ref(), options)
        }

        /// Adds an operand, for the merge operator that the column family was
        /// opened with.
        ///
        /// # Errors
        /// RocksDB's, as without a merge operator.
        pub fn merge(&self, key: impl AsRef<[u8]>, operand: impl AsRef<[u8]>) -> Result<()> {
            let operations = self.operations();
            let options = operations.write_options();
            operations.merge(key.as_ref(), operand.as_ref(), &options)
        }

        /// Deletes a key.
        ///
        /// # Errors
        /// RocksDB's, as while it refuses writes after a background error.
        pub fn delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
            self.delete_opt(key, &self.operations().write_options())
        }

        /// Deletes a key, with options.
        ///
        /// # Errors
        /// RocksDB's, as while it refuses writes after a background error.
        pub fn delete_opt(
            &self,
            key: impl AsRef<[u8]>,
            options: &rust_rocksdb::WriteOptions,
        ) -> Result<()> {
            self.operations().delete(key.as_ref(), options)
        }

        /// Deletes a key that was written once since it was last deleted; of one that was
        /// written more often, what is read after it is undefined, as in RocksDB.
        ///
        /// # Errors
        /// RocksDB's, as while it refuses writes after a background error.
        pub fn single_delete(&self, key: impl AsRef<[u8]>) -> Result<()> {
            let operations = self.operations();
            let options = operations.write_options();
            operations.single_delete(key.as_ref(), &options)
        }

        /// Deletes the keys from `from` on and before `to`.
        ///
        /// # Errors
        /// When `to` comes before `from`; RocksDB's, as while it refuses writes after a
        /// background error.
        pub fn delete_range(&self, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> Result<()> {
            let operations = self.operations();
            let options = operations.write_options();
            operations.delete_range(from.as_ref(), to.as_ref(), &options)
        }

        /// Shows up to `limit` entries from `start` on, in key order, whatever
        /// their prefixes are, and returns how many there were.
        ///
        /// # Errors
        /// RocksDB's, as when a block does not read back.
        pub fn scan(
            &self,
            start: impl AsRef<[u8]>,
            limit: usize,
            visit: impl FnMut(&[u8], &[u8]),
        ) -> Result<usize> {
            self.operations().scan(start.as_ref(), limit, visit)
        }

        /// Entries in order, whatever their prefixes are. An item may be an error,
        /// RocksDB's, as when a block does not read back.
        pub fn iterator(&self, mode: rust_rocksdb::IteratorMode<'_>) -> crate::db::Scan<'_> {
            self.iterator_opt(mode, crate::db::operations::across_prefixes())
        }

        /// Entries in order, read with options. Under a prefix extractor an iterator
        /// that crosses prefixes needs `set_total_order_seek`.
        pub fn iterator_opt(
            &self,
            mode: rust_rocksdb::IteratorMode<'_>,
            options: rust_rocksdb::ReadOptions,
        ) -> crate::db::Scan<'_> {
            self.operations()
                .iterator(mode, options, self.counters.clone())
        }
    };
}

pub(super) use operations;
