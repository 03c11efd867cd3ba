/*
 * module.h - the virtual table, to be registered.
 */
#ifndef CKFS_TABLE_MODULE_H
#define CKFS_TABLE_MODULE_H

#include "../connection.h"

/* Register the virtual table; `forget` is called for the connection when it is gone. */
int ckfs_register_table(sqlite3 *db, ckfs_connection *connection, void (*forget)(void *));

/* Forget each CREATE and RENAME of filter tables: the transaction or the connection ends. */
void ckfs_ddl_end(ckfs_connection *connection);

#endif
