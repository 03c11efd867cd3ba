/*
 * module.h - register the virtual table.
 */
#ifndef CKFS_TABLE_MODULE_H
#define CKFS_TABLE_MODULE_H

#include "../connection.h"

/* Register the virtual table.  SQLite calls `forget` with the connection when it drops the
 * module. */
int ckfs_register_table(sqlite3 *db, ckfs_connection *connection, void (*forget)(void *));

/* Forget each CREATE and RENAME of filter tables, at the end of the transaction or the
 * connection. */
void ckfs_ddl_end(ckfs_connection *connection);

#endif
